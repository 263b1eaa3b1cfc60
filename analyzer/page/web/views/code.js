import { h } from "../dom.js";
export const code = { id: "code", title: "Code", mount(el) { el.append(h("p", { class: "note" }, "…")); }, draw() {}, drawn: () => ({}) };
