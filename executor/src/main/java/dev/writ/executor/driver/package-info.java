/** What a tool's driver gets and gives. */
package dev.writ.executor.driver;
