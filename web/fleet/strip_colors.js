// Colours of the strip: one for a course that is not split, a row of hues
// that can be told apart for its parts.

import { oklch } from '../flame/colors.js';
import { isDark } from '../base/theme.js';

const HUES = [255, 45, 150, 310, 95, 200, 20, 275];

/** @param {number} k @param {number} count of parts */
export function colorIn(k, count) {
  if (count < 2) return isDark() ? '#5b8ee6' : '#6f9ce8';
  const hue = HUES[k % HUES.length];
  return isDark() ? oklch(0.62, 0.11, hue) : oklch(0.74, 0.11, hue);
}

/** What is drawn over the areas. */
export function stripTheme() {
  return isDark() ? { ground: '#181715', ink: '#f0ede8', muted: '#a8a39a',
    line: '#34322e', veil: 'rgb(24 23 21 / 0.62)', a: '#8ab8ff', b: '#f0a35e',
    plot: '#ff7be0', base: '#d0ccc4' }
    : { ground: '#ffffff', ink: '#1c1b19', muted: '#67635c', line: '#e5e2dc',
      veil: 'rgb(255 255 255 / 0.62)', a: '#0b57d0', b: '#a34a00',
      plot: '#a8007f', base: '#4b4842' };
}
