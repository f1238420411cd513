/** What an operator needs at night, over HTTP (spec/operations-desk.md). */
package dev.writ.console.operation;
