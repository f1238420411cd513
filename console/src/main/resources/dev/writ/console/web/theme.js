// Before the first paint, so that a page in the dark does not flash: the theme that was chosen here.
try {
  const theme = localStorage.getItem('writ-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing: the system's theme.
}
