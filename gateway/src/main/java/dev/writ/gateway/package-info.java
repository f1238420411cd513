/** The server: one HTTP front over one kernel, with a package for each surface. */
package dev.writ.gateway;
