// The one place that names the library of views. Views are made by `h`: no markup is ever made of text.
export { h, Fragment, render } from '../lib/preact.mjs';
export { useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef, useState } from '../lib/hooks.mjs';
