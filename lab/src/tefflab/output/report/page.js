"use strict";
// A click on a name in a picture's legend greys the marks of that name, and another brings them back.
for (const picture of document.querySelectorAll(".picture")) {
  const marks = [...picture.querySelectorAll(":not(.legend_group *)[aria-label]")];
  for (const name of picture.querySelectorAll(".legend_group text[aria-label]:not([aria-label=''])")) {
    const said = name.getAttribute("aria-label");
    const own = marks.filter((mark) => mark.getAttribute("aria-label").split(":")[0] === said);
    if (!own.length) continue;
    for (const [key, value] of Object.entries({ role: "button", tabindex: "0", "aria-pressed": "true" })) name.setAttribute(key, value);
    const toggle = () => {
      const is_grey = name.getAttribute("aria-pressed") === "true";
      name.setAttribute("aria-pressed", String(!is_grey));
      for (const mark of own) mark.classList.toggle("grey", is_grey);
    };
    name.addEventListener("click", toggle);
    name.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle();
    });
  }
}
