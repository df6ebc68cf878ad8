export { Attention } from "./attention";
