/** What authors of tools do: new, lint, test, lock, package, sign. */
package dev.writ.tools.author;
