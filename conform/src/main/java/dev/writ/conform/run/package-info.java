/** Reads vectors, runs them and reports. */
package dev.writ.conform.run;
