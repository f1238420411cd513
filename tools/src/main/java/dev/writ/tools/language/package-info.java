/** Packages in several languages, and their warm workers (spec/tool-package.md). */
package dev.writ.tools.language;
