/** Permissions that are handed out, where somebody else does what is permitted. */
package dev.writ.tools.permit;
