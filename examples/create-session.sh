#!/bin/sh
# Creates a checkout session with curl, only once for each ORDER, and requests its link as a buyer's agent does.
#
#   CHECKOUT_URL=http://localhost:3000 CHECKOUT_KEY=svc_ck_test_… ORDER=1234 sh examples/create-session.sh
set -eu

session=$(curl "$CHECKOUT_URL/v1/checkout/sessions" -u "$CHECKOUT_KEY:" \
  --silent --show-error --fail-with-body -H "Idempotency-Key: order-$ORDER" \
  -d 'line_items[0][price_data][product_data][name]=Coffee' \
  -d 'line_items[0][price_data][unit_amount]=450' \
  -d "client_reference_id=$ORDER") || { echo "$session" >&2; exit 1; }
link=$(printf %s "$session" | sed 's/.*"url":"\([^"]*\)".*/\1/')

echo "Send your buyer, person or agent, this link: $link"
echo 'An agent that opens it is told what to pay:'
curl "$link" --silent --show-error
echo
