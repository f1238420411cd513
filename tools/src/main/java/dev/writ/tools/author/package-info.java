/** The work of authors of tools: new, lint, test, lock, package, sign. */
package dev.writ.tools.author;
