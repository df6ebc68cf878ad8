// Start of the console.

import { start } from "../shared/start";
import { App } from "./app";

void start(App);
