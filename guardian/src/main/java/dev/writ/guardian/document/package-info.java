/**
 * The documents of a request's life: request, approval, delegation, decision, intent, receipt,
 * refusal, and what they consist of.
 */
package dev.writ.guardian.document;
