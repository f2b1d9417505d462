// Reads cases from standard input, evaluates each with the page's forest, and prints the predictions.
import {Forest} from "../../page/source/live/forest.js";

let text = "";
for await (const chunk of process.stdin) text += chunk;
const back = (v) => v === "NaN" ? NaN : v === "Infinity" ? Infinity : v === "-Infinity" ? -Infinity : v;
const found = JSON.parse(text).map(({model, matrix, rows}) => {
  const forest = new Forest(model);
  return {matrix: matrix.map((row) => forest.predict(row.map(back))), rows: rows.map((row) => forest.predict(forest.encode(row)))};
});
process.stdout.write(JSON.stringify(found));
