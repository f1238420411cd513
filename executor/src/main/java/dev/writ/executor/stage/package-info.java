/** The eight stages from a signed intent to a signed receipt (spec/execution.md). */
package dev.writ.executor.stage;
