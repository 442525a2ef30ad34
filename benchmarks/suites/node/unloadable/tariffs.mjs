// Tariffs. The surcharge of 2027 is not written yet.
export const surcharge2026 = 1240;
