export { Service } from "./service";
