/** What a caller says of a confined process, and how it ended (spec/sandbox.md). */
package dev.writ.sandbox;
