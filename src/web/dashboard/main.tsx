// Start of the dashboard.

import { start } from "../shared/start";
import { App } from "./app";
import { followSwitches } from "./session";

followSwitches();
void start(App);
