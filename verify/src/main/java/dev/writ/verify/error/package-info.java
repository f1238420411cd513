/** Error codes of bundles (RPL). */
package dev.writ.verify.error;
