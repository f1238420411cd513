/** The browser tool (spec/tool-browser.md). */
package dev.writ.tools.browser;
