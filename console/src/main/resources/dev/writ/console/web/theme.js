// Before the first paint, so that a page in the dark does not flash: the theme that was chosen here.
try {
  const theme = localStorage.getItem('writ-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing: the system's theme.
}

// The page's own modules may fail to come, and could not say so: an empty page would look like one that is still on its way.
addEventListener('error', (event) => {
  const page = document.getElementById('page');
  if (!(event.target instanceof HTMLScriptElement) || page === null) return;
  const says = document.createElement('p');
  says.className = 'note bad';
  says.setAttribute('role', 'alert');
  says.textContent = 'The console did not load. Load this page again when the server can be reached.';
  const box = document.createElement('main');
  box.className = 'alone';
  box.append(says);
  page.replaceChildren(box);
}, true);
