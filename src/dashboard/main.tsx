// Start of the dashboard.

import { start } from "../pages/start";
import { App } from "./app";
import { followSwitches } from "./session";

followSwitches();
void start(App);
