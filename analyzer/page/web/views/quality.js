import { h } from "../dom.js";
export const quality = { id: "quality", title: "Quality", mount(el) { el.append(h("p", { class: "note" }, "…")); }, draw() {}, drawn: () => ({}) };
