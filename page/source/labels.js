// Names of points that never lie on each other, on a point, or on a line to another's name: each is tried at eight places beside its
// point, then further off with a line to it, and left out where there is no room.
const LINE = 15;  // height of a line of text
const NEAR = 22;  // pixels within which a name needs no line
const BESIDE = [[9, 0], [8, -10], [8, 11], [-9, 0], [0, -14], [0, 15], [-8, -10], [-8, 11]];
const FURTHER = [18, 26, 36, 48, 62, 78, 96].flatMap((f) => [[f, -0.4 * f], [0.7 * f, -0.8 * f], [f, 0.4 * f], [0.4 * f, -f], [-0.7 * f, -0.8 * f], [-f, -0.4 * f], [0, -f], [0.7 * f, 0.8 * f], [f, 0]]);

const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
function crosses(line, box) {
  for (let k = 1; k <= 24; k++) {
    const x = line.x + k / 24 * (line.toX - line.x), y = line.y + k / 24 * (line.toY - line.y);
    if (x > box.left && x < box.right && y > box.top && y < box.bottom) return true;
  }
  return false;
}
function sides(one, other) {
  const side = (x, y) => (one.toX - one.x) * (y - one.y) - (one.toY - one.y) * (x - one.x);
  return side(other.x, other.y) * side(other.toX, other.toY);
}
const cut = (a, b) => sides(a, b) < 0 && sides(b, a) < 0;

// `points` are {x, y, text, wide} in pixels, the most important first, `drawn` lines that are there already; the answer is a label or
// null for each.
export function placeLabels(points, inside, most = 14, drawn = []) {
  const taken = points.map(({x, y}) => ({left: x - 6, right: x + 6, top: y - 6, bottom: y + 6})), lines = [...drawn];
  return points.map((point, number) => number < most && point.text ? placeOne(point, number, taken, lines, inside) : null);
}
function placeOne({x, y, text, wide}, number, taken, lines, inside) {
  const others = taken.filter((_, i) => i !== number);
  for (const [dx, dy] of [...BESIDE, ...FURTHER]) {
    const start = dx > 0 ? x + dx : dx < 0 ? x + dx - wide : x - wide / 2, box = {left: start, right: start + wide, top: y + dy - LINE / 2, bottom: y + dy + LINE / 2};
    if (box.left < inside.left || box.right > inside.right || box.top < inside.top || box.bottom > inside.bottom) continue;
    const line = Math.abs(dx) + Math.abs(dy) >= NEAR ? {x, y, toX: dx > 0 ? box.left : dx < 0 ? box.right : x, toY: y + dy + (dx ? 0 : Math.sign(-dy) * LINE / 2)} : null;
    if (others.some((other) => meet(box, other) || (line && crosses(line, other)))) continue;
    if (lines.some((other) => crosses(other, box) || (line && cut(line, other)))) continue;
    taken.push(box);
    if (line) lines.push(line);
    return {x: dx > 0 ? box.left : dx < 0 ? box.right : x, y: y + dy + 4, anchor: dx > 0 ? "start" : dx < 0 ? "end" : "middle", text, line, box};
  }
  return null;
}
