// Files that the page makes itself: tables as CSV, drawings as SVG and PNG.

export const saveBlob = (name, blob) => {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  Object.assign(link, { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
};

export const saveText = (name, text, type) => saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));

// Text that a spreadsheet would take for a formula is kept from being one by a quote before it.
const field = (value) => {
  if (value === null || value === undefined) return "";
  const text = typeof value === "number" ? String(value) : String(value).replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const csvOf = (heads, rows) => [heads, ...rows].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";

// A drawing by itself: what style sheets say of it is written into each node.
const PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor", "opacity"];

const standalone = (drawing) => {
  const copy = drawing.cloneNode(true);
  const nodes = [drawing, ...drawing.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  nodes.forEach((node, index) => {
    const style = getComputedStyle(node);
    for (const name of PROPERTIES) copies[index].setAttribute(name, style.getPropertyValue(name));
    copies[index].removeAttribute("class");
  });
  const { width, height } = drawing.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x: 0, y: 0, width, height, fill: getComputedStyle(document.body).getPropertyValue("--rd-paper") || "white" })) ground.setAttribute(name, value);
  copy.prepend(ground);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
};

export const saveSvg = (name, drawing) => saveText(`${name}.svg`, standalone(drawing).text, "image/svg+xml");

export const savePng = async (name, drawing, scale = 2) => {
  const { text, width, height } = standalone(drawing);
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: width * scale, height: height * scale });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    saveBlob(`${name}.png`, blob);
  } finally {
    URL.revokeObjectURL(url);
  }
};
