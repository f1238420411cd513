/** Error codes of tools (TOL). */
package dev.writ.tools.error;
