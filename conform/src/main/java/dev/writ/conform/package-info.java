/** The statement of conformance. */
package dev.writ.conform;
