// Pictures that are part of the text, each from the JSON that lies behind its place in the page.
import {decode} from "../decode.js";
import {draw} from "../draw.js";

const known = new WeakMap();
export function drawStill(place, size) {
  if (!known.has(place)) known.set(place, decode(JSON.parse(place.nextElementSibling.textContent)).panels[0]);
  draw(place, known.get(place), {legend: false, size});
}
