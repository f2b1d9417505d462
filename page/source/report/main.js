// The script lies behind the page's first pictures, which are drawn at once; everything else begins when the page is there.
import {sizeOf} from "../draw.js";
import {drawStill} from "./stills.js";

// All are measured before the first is drawn: asking for a size after a change lays the page out again.
const places = Array.from(document.querySelectorAll("[data-still]")), sizes = places.map(sizeOf);
places.forEach((place, i) => drawStill(place, sizes[i]));
document.addEventListener("DOMContentLoaded", () => import("./controls.js"), {once: true});
