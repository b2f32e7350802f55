// Starts the page's script when the browser has shown what the HTML says, or
// after a moment in a tab that it does not show.  Until then it is a text.

const program = document.getElementById('program');
const timer = setTimeout(start, 200);
new PerformanceObserver(start).observe({ type: 'paint', buffered: true });

function start() {
  clearTimeout(timer);
  if (!program?.isConnected) return;
  const script = document.createElement('script');
  script.type = 'module';
  script.textContent = program.textContent;
  program.replaceWith(script);
}
