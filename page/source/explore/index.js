// The explorer's module: `serve` in a browser, the default export in a notebook (anywidget), `mount` for any other page.
import {mount} from "./app.js";
import {SocketLink, WidgetLink} from "./link.js";

export {mount} from "./app.js";
export {SocketLink, WidgetLink, unpack} from "./link.js";

// The token and the state stand after the address's #, which no server is told.
export function serve(element, location) {
  element.style.margin = "0";
  const [token, packed] = location.hash.slice(1).split("&");
  let state = null;
  try { state = packed ? JSON.parse(decodeURIComponent(packed)) : null; } catch { state = null; }
  const address = `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/live`;
  const linkOf = (now) => `${location.origin}/#${token}&${encodeURIComponent(JSON.stringify(now))}`;
  const app = mount(element, new SocketLink(address, token || ""), {state, link: linkOf, save: (now) => history.replaceState(null, "", linkOf(now))});
  element.explorer = app;
  return app;
}
export default {
  render({model, el}) {
    const app = mount(el, new WidgetLink(model), {
      shadow: true, state: model.get("state"), letters: model.get("letters"), picture: model.get("picture"),
      save: (now) => { model.set("state", JSON.parse(JSON.stringify(now))); model.save_changes(); },
    });
    el.explorer = app;
    const told = () => app.show(model.get("state"));  // set from Python
    model.on("change:state", told);
    return () => { model.off("change:state", told); app.destroy(); };
  },
};
