import {said} from "../words.js";

// A number to be seen at a glance: three digits.
export const few = (value) => said(+value.toPrecision(3));
