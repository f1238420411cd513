/** Error codes of the audit (EXE) and of bundles (RPL). */
package dev.writ.verify.error;
