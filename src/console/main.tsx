// Start of the console.

import { start } from "../pages/start";
import { App } from "./app";

void start(App);
