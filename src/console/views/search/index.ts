export { Search } from "./search";
