/** Measures steps of the kernel against bare operations in the same run. */
package dev.writ.bench;
