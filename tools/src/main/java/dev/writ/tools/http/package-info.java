/** HTTP APIs as tools: what a package says of its requests (spec/tool-http.md). */
package dev.writ.tools.http;
