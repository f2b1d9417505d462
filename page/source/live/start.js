// Starts the live row where a report holds one.
import {LiveRow} from "./row.js";

const home = document.getElementById("live-row");
if (home) home.live = new LiveRow(home, JSON.parse(document.getElementById("live-data").textContent));
