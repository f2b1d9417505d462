// Starts the live row where a report holds one.
import {LiveRow} from "./row.js";

const home = document.getElementById("live-row");
if (home) {
  const page = JSON.parse(document.getElementById("live-data").textContent);
  home.live = new LiveRow(home, page, page);
}
