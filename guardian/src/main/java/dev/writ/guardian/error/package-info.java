/** Error codes of the Guardian (GRD). */
package dev.writ.guardian.error;
