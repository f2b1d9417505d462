import {numberText} from "../words.js";

// A number to be seen at a glance: three digits.
export const few = (value) => numberText(value, 3);
