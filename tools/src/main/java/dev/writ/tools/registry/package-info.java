/** Which packages and built-in tools are registered. */
package dev.writ.tools.registry;
