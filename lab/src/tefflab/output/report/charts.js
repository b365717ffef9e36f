"use strict";
// Draws the curves of each section as wide as the page lets it, hides and shows them, and tells a point's numbers.
// Places come as shares of the axes (0 to 1) and texts as they are to be read; nothing is computed here but pixels.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const NEAR = 30; // pixels from the pointer within which a point answers
  const ruler = document.createElement("canvas").getContext("2d");

  const svg = (name, attributes = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const textWidth = (text) => {
    ruler.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    return ruler.measureText(text).width;
  };
  const ink = (look) => `--day:${look.day};--night:${look.night}`;

  function frame(chart, width) {
    const narrow = width < 520;
    const ticks = narrow ? "narrow" : "wide";
    const left = Math.ceil(Math.max(...chart.y[ticks].map(([, label]) => textWidth(label)))) + 10;
    const height = Math.round(Math.min(Math.max(width * 0.66, 270), 400));
    const ruleWidth = chart.rule ? textWidth(`╌ ${chart.rule.text}`) * 1.15 + 20 : 0; // it is bold
    const rows = textWidth(chart.y.title) + ruleWidth > width ? 2 : 1; // of text above the axes
    const box = { left, right: width - 14, top: 10 + 16 * rows, bottom: height - 44, width, height, ticks };
    box.x = (share) => box.left + share * (box.right - box.left);
    box.y = (share) => box.bottom - share * (box.bottom - box.top);
    return box;
  }

  function axes(chart, box) {
    const group = svg("g", { "aria-hidden": "true" });
    for (const share of chart.x.minor) group.append(svg("line", { class: "minor", x1: box.x(share), x2: box.x(share), y1: box.top, y2: box.bottom }));
    for (const share of chart.y.minor) group.append(svg("line", { class: "minor", x1: box.left, x2: box.right, y1: box.y(share), y2: box.y(share) }));
    for (const [share, label] of chart.x[box.ticks]) {
      const half = textWidth(label) / 2;
      const middle = Math.min(Math.max(box.x(share), half), box.width - half);
      group.append(svg("line", { class: "grid", x1: box.x(share), x2: box.x(share), y1: box.top, y2: box.bottom }));
      group.append(svg("text", { x: middle, y: box.bottom + 17, "text-anchor": "middle" }, label));
    }
    for (const [share, label] of chart.y[box.ticks]) {
      group.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: box.y(share), y2: box.y(share) }));
      group.append(svg("text", { x: box.left - 7, y: box.y(share) + 4, "text-anchor": "end" }, label));
    }
    group.append(svg("text", { x: (box.left + box.right) / 2, y: box.height - 6, "text-anchor": "middle" }, chart.x.title));
    group.append(svg("text", { x: 0, y: 11 }, chart.y.title));
    if (chart.rule) {
      const label = svg("text", { x: box.right, y: box.top - 15, "text-anchor": "end", class: "rule-text" }, `╌ ${chart.rule.text}`);
      group.append(svg("line", { class: "rule", x1: box.left, x2: box.right, y1: box.y(chart.rule.at), y2: box.y(chart.rule.at) }), label);
    }
    return group;
  }

  function curve(line, look, box) {
    const group = svg("g", { class: "curve series", "data-curve": line.id, style: ink(look) });
    const at = (x, y) => `${box.x(x).toFixed(1)} ${box.y(y).toFixed(1)}`;
    const upper = line.points.map(([x, , , high]) => at(x, high));
    const lower = line.points.map(([x, , low]) => at(x, low)).reverse();
    if (line.points.length) {
      group.append(svg("path", { class: "band", d: `M${[...upper, ...lower].join("L")}z` }));
      const path = `M${line.points.map(([x, y]) => at(x, y)).join("L")}`;
      group.append(svg("path", { class: "stroke", d: path, "stroke-dasharray": look.dash.map((each) => each * 1.8).join(" ") }));
    }
    for (const [x, y] of line.points) group.append(svg("path", { class: "dot", d: look.outline, transform: `translate(${at(x, y)}) scale(.75)` }));
    if (line.metg) group.append(svg("path", { class: "dot", d: look.outline, transform: `translate(${at(...line.metg)}) scale(1.5)` }));
    return group;
  }

  function spots(chart, box, away) {
    const found = [];
    for (const line of chart.lines) {
      if (away.has(line.id)) continue;
      line.points.forEach(([x, y], number) => found.push({ line, x: box.x(x), y: box.y(y), texts: line.texts[number] }));
      if (line.metg) found.push({ line, x: box.x(line.metg[0]), y: box.y(line.metg[1]), texts: line.metgText });
    }
    return found;
  }

  function showTip(plot, picture, box, spot) {
    plot.querySelector(".tip")?.remove();
    picture.querySelector(".ring")?.remove();
    if (!spot) return;
    picture.append(svg("circle", { class: "ring", cx: spot.x, cy: spot.y, r: 8 }));
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "status");
    const name = document.createElement("b");
    name.textContent = spot.line.name;
    tip.append(name, ...spot.texts.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
    plot.append(tip);
    const scale = plot.clientWidth / box.width;
    const x = Math.min(Math.max(spot.x * scale - tip.offsetWidth / 2, 0), plot.clientWidth - tip.offsetWidth);
    const above = spot.y * scale - tip.offsetHeight - 14;
    tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(above < -40 ? spot.y * scale + 14 : above)}px)`;
  }

  function draw(figure, chart, away) {
    const plot = figure.querySelector(".plot");
    const box = frame(chart, Math.max(plot.clientWidth, 240));
    const label = `${chart.title}, ${chart.lines.length} curves; all points are listed below`;
    const picture = svg("svg", { viewBox: `0 0 ${box.width} ${box.height}`, role: "img", "aria-label": label });
    picture.append(axes(chart, box), ...chart.lines.map((line) => curve(line, data.looks[line.id], box)));
    plot.replaceChildren(picture);
    for (const group of picture.querySelectorAll(".curve")) group.classList.toggle("away", away.has(group.dataset.curve));
    const point = (event) => {
      const scale = box.width / plot.clientWidth;
      const edge = picture.getBoundingClientRect();
      const [x, y] = [(event.clientX - edge.left) * scale, (event.clientY - edge.top) * scale];
      const distance = (spot) => Math.hypot(spot.x - x, spot.y - y);
      const nearest = spots(chart, box, away).reduce((best, spot) => (!best || distance(spot) < distance(best) ? spot : best), null);
      showTip(plot, picture, box, nearest && distance(nearest) < NEAR ? nearest : null);
    };
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    picture.addEventListener("pointerleave", () => showTip(plot, picture, box, null));
  }

  for (const section of document.querySelectorAll(".case")) {
    const charts = data.sections[Number(section.dataset.section)];
    const figures = [...section.querySelectorAll(".chart")];
    const buttons = [...section.querySelectorAll(".legend [data-curve]")];
    const all = section.querySelector(".legend .all");
    const away = new Set();
    const update = () => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(!away.has(button.dataset.curve)));
      for (const group of section.querySelectorAll(".curve")) group.classList.toggle("away", away.has(group.dataset.curve));
      for (const left of section.querySelectorAll(".tip, .ring")) left.remove();
      if (all) all.hidden = away.size === 0;
    };
    const highlight = (name) => {
      for (const figure of figures) figure.classList.toggle("faint", name !== null && !away.has(name));
      for (const group of section.querySelectorAll(".curve")) group.classList.toggle("near", group.dataset.curve === name);
    };
    for (const button of buttons) {
      const name = button.dataset.curve;
      button.addEventListener("click", () => {
        if (!away.delete(name)) away.add(name);
        update();
        highlight(null);
      });
      button.addEventListener("dblclick", () => {
        for (const other of buttons) away.add(other.dataset.curve);
        away.delete(name);
        update();
      });
      button.addEventListener("pointerenter", () => highlight(name));
      button.addEventListener("pointerleave", () => highlight(null));
    }
    all?.addEventListener("click", () => {
      away.clear();
      update();
    });
    for (const figure of figures) {
      const chart = charts[Number(figure.dataset.chart)];
      let drawn = 0;
      new ResizeObserver(() => {
        const width = figure.clientWidth;
        if (width === drawn) return;
        drawn = width;
        draw(figure, chart, away);
      }).observe(figure);
    }
  }
})();
