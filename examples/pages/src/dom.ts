/** The element of that id. */
export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** Puts a line of state into an element. */
export function say(id: string, text: string, mood = ""): void {
  element(id).textContent = text;
  element(id).className = `state ${mood}`;
}

/** A new element with a class and a text. */
export function made(tag: string, className: string, text = ""): HTMLElement {
  return Object.assign(document.createElement(tag), { className, textContent: text });
}
