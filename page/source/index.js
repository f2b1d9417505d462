// The drawing module of every page: panels as Python's `plots` describes them, drawn into elements.
export {decode, VERSION} from "./decode.js";
export {draw, drawPicture} from "./draw.js";
export {legendOf} from "./panel.js";
export {valueRange, visibleFeatures, visibleValues} from "./range.js";
export {percent, said} from "./words.js";
