// A theme that the address asks for goes along to the other pages.
import { THEME } from "./dom.js";

const carry = (event) => {
  const link = event.target.closest?.("a[href]");
  const theme = new URL(location).searchParams.get(THEME);
  if (!theme || !link || link.origin !== location.origin || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  url.searchParams.set(THEME, theme);
  link.href = url;
};

for (const kind of ["click", "auxclick"]) document.addEventListener(kind, carry, { capture: true });
