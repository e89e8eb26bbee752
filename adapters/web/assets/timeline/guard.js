// A border around each item: a view that falls takes nothing with it but itself.

import { Component, html } from "../ui.js";

const said = new Set();

/**
 * Draw what stands inside, or `fallback` if it falls. It is tried again for another `of`.
 * @typedef {{of: any, fallback: () => any, children: any}} Props
 */
export class Guard extends Component {
  /** @param {Props} props */
  constructor(props) {
    super(props);
    this.state = { fallen: false };
    this.of = props.of;
  }

  static getDerivedStateFromError() {
    return { fallen: true };
  }

  /** @param {any} error */
  componentDidCatch(error) {
    const name = this.props.of?.call?.name ?? this.props.of?.kind ?? "";
    if (!said.has(name)) console.warn(`the view of ${name} has fallen`, error);
    said.add(name);
  }

  /** @param {Props} props */
  render({ of, fallback, children }) {
    if (of !== this.of) {
      this.of = of;
      this.state = { fallen: false };
    }
    return this.state.fallen ? fallback() : children;
  }
}

/** What is said where nothing can be drawn. */
export const NOTHING = () => html`<p class="quiet">This could not be shown.</p>`;
