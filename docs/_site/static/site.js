// The menu of versions, and the colours of live plotly figures; nothing is fetched.
(() => {
  "use strict";

  function versions() {
    for (const box of document.querySelectorAll(".versions")) {
      const button = box.querySelector("button");
      const list = box.querySelector("ul");
      const names = window.ICEFIELD_VERSIONS || [];
      for (const name of names) {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = `${box.dataset.list.replace("versions.js", "")}${name}/index.html`;
        link.textContent = name === box.dataset.here ? `${name} (this one)` : name;
        item.append(link);
        list.append(item);
      }
      const show = (open) => {
        list.hidden = !open;
        button.setAttribute("aria-expanded", String(open));
      };
      button.addEventListener("click", () => show(list.hidden));
      document.addEventListener("click", (event) => { if (!box.contains(event.target)) show(false); });
      box.addEventListener("keydown", (event) => { if (event.key === "Escape") { show(false); button.focus(); } });
    }
  }

  function recolour() {
    const dark = document.documentElement.dataset.theme === "dark";
    const ink = dark ? "#d9e0e8" : "#1f2328";
    const grid = dark ? "#3a424d" : "#d0d7de";
    for (const figure of document.querySelectorAll(".live .js-plotly-plot")) {
      const change = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", "font.color": ink };
      for (const name of Object.keys(figure.layout || {})) {
        if (/^[xy]axis\d*$/.test(name)) {
          Object.assign(change, { [`${name}.gridcolor`]: grid, [`${name}.linecolor`]: grid, [`${name}.zerolinecolor`]: grid,
            [`${name}.tickfont.color`]: ink, [`${name}.title.font.color`]: ink });
        }
      }
      window.Plotly.relayout(figure, change);
    }
  }

  // What is large comes when the page itself is there: frames as they come into view, plotly at once.
  function frames() {
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting && !entry.target.src) entry.target.src = entry.target.dataset.src;
      }
    }, { rootMargin: "600px" });
    document.querySelectorAll("iframe[data-src]").forEach((frame) => seen.observe(frame));
  }

  function figures() {
    const box = document.querySelector(".live[data-src]");
    if (!box) return;
    const library = document.createElement("script");
    library.src = box.dataset.src;
    library.onload = () => {
      for (const held of document.querySelectorAll('.live script[type="text/plain"]')) {
        const script = document.createElement("script");
        script.textContent = held.textContent;
        held.replaceWith(script);
      }
      recolour();
      new MutationObserver(recolour).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    };
    document.body.append(library);
  }

  document.addEventListener("DOMContentLoaded", versions);
  window.addEventListener("load", () => { frames(); figures(); });
})();
