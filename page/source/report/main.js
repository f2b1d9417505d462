import "./controls.js";
