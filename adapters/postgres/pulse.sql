-- name: feel_pulse
-- The cheapest question that only a database which works can answer.
SELECT 1;
